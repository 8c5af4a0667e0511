import { describe, expect, it } from 'vitest'
import { readFiles, readProjectFile } from './support/read-files.ts'
import {
  findRuleObjects,
  findSpecProblems,
  findTitleTags,
  type Mention,
  parseRuleIds,
} from './support/spec-rules.ts'

it('every rule of docs/spec.md is named by a test, and every tag names a rule', () => {
  const ruleIds = parseRuleIds(readProjectFile('docs/spec.md'))
  const mentions = [
    ...findTitleTags(readFiles('src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}')),
    ...findRuleObjects(readFiles('src/testing/**/*.ts')),
  ]
  expect(findSpecProblems(ruleIds, mentions)).toEqual([])
})

describe('what it compares', () => {
  it('reads rules from list lines that begin with an id', () => {
    const markdown = [
      '## LG · The ledger',
      '- LG1 Every change carries a seq.',
      '- LG2a Commit,',
      '  then show LG9.',
      '- Thread: one conversation',
      'LG3 is not in a list',
      '- LG1',
    ].join('\n')
    expect(parseRuleIds(markdown)).toEqual(['LG1', 'LG2a', 'LG1'])
  })

  it('reads tags from titles of tests and groups, and from nothing else', () => {
    const source = `
      // it('[ZZ1] in a comment')
      const text = "it('[ZZ2] in a string')"
      it('[LG1] plain', () => {})
      test(\`[LG2 LG3b] for \${value} and [LG4]\`, () => {})
      describe.each([(1), [2]])('[PG1] rows', () => {
        it.each\`a\`('[PG2] tagged', () => { log('[ZZ3] not a title') })
      })
      it.skip('[ST1] skipped', () => {})
      it.todo('[ST2] to do')
      it('has no tag [at all]', () => {})
    `
    expect(findTitleTags(new Map([['a.test.ts', source]]))).toEqual([
      runs('LG1'),
      runs('LG2'),
      runs('LG3b'),
      runs('LG4'),
      runs('PG1'),
      runs('PG2'),
      { ...runs('ST1'), runs: false },
      { ...runs('ST2'), runs: false },
    ])
  })

  it('refuses a tag that it would otherwise pass over', () => {
    const files = new Map([['a.test.ts', `it('[LG1, LG2] two', () => {})`]])
    expect(() => findTitleTags(files)).toThrow('write [LG1, LG2] as ids with one space')
  })

  it('reads the ids of rules that are data', () => {
    const source = `
      export const rules = [{ id: 'LG1', claim: 'one wins' }, { id: 'thread-1' }, { name: 'LG2' }]
    `
    expect(findRuleObjects(new Map([['a.test.ts', source]]))).toEqual([runs('LG1')])
  })

  it('is content when both sides agree', () => {
    expect(findSpecProblems(['LG1'], [runs('LG1'), runs('LG1')])).toEqual([])
    expect(findSpecProblems([], [])).toEqual([])
  })

  it('names a rule without a test, a tag without a rule, and a rule given twice', () => {
    const skipped = { ...runs('LG2'), runs: false }
    expect(findSpecProblems(['LG1', 'LG2', 'LG3', 'LG3'], [runs('LG3'), skipped])).toEqual([
      'docs/spec.md has LG3 twice',
      'no test names LG1',
      'no test names LG2',
    ])
    expect(findSpecProblems([], [runs('LG9')])).toEqual([
      'a.test.ts names LG9, which docs/spec.md does not have',
    ])
  })
})

function runs(id: string): Mention {
  return { id, path: 'a.test.ts', runs: true }
}
