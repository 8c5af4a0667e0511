import type { ESTree } from 'vite'
import { parseModule, visitModule } from './parse-module.ts'
import type { Files } from './read-files.ts'

const ID = '[A-Z]{2}\\d+[a-z]?'
const RULE_ID = new RegExp(`^${ID}$`)
const RULE_LINE = new RegExp(`^- (${ID})(?: |$)`)
const TAG = new RegExp(`^${ID}(?: ${ID})*$`)
const LOOKS_LIKE_TAG = new RegExp(`\\b${ID}\\b`)

export interface Mention {
  readonly id: string
  readonly path: string
  /** A skipped test names a rule but shows nothing about it. */
  readonly runs: boolean
}

/** The rule ids of docs/spec.md, in order, duplicates included. */
export function parseRuleIds(markdown: string): readonly string[] {
  return markdown.split('\n').flatMap((line) => RULE_LINE.exec(line)?.[1] ?? [])
}

/** The tags of all test titles: `[LG1]` or `[LG1 LG2]` in the string given to it, test or describe. */
export function findTitleTags(files: Files): readonly Mention[] {
  const mentions: Mention[] = []
  for (const [path, source] of files) {
    visitModule(parseModule(path, source), {
      CallExpression(call) {
        const names = readCallee(call.callee)
        if (!['it', 'test', 'describe'].includes(names[0] ?? '')) return
        const runs = !names.includes('skip') && !names.includes('todo')
        for (const id of parseTags(path, readText(call.arguments[0]))) {
          mentions.push({ id, path, runs })
        }
      },
    })
  }
  return mentions
}

/** The ids of rules that are written as data: objects with `id: 'LG1'`. */
export function findRuleObjects(files: Files): readonly Mention[] {
  const mentions: Mention[] = []
  for (const [path, source] of files) {
    visitModule(parseModule(path, source), {
      Property(property) {
        const { key, value } = property
        if (key.type !== 'Identifier' || key.name !== 'id' || value.type !== 'Literal') return
        if (typeof value.value !== 'string' || !RULE_ID.test(value.value)) return
        mentions.push({ id: value.value, path, runs: true })
      },
    })
  }
  return mentions
}

export function findSpecProblems(
  ruleIds: readonly string[],
  mentions: readonly Mention[],
): readonly string[] {
  const known = new Set(ruleIds)
  const shown = new Set(mentions.filter((mention) => mention.runs).map((mention) => mention.id))
  return [
    ...ruleIds
      .filter((id, index) => ruleIds.indexOf(id) !== index)
      .map((id) => `docs/spec.md has ${id} twice`),
    ...[...known].filter((id) => !shown.has(id)).map((id) => `no test names ${id}`),
    ...mentions
      .filter((mention) => !known.has(mention.id))
      .map((mention) => `${mention.path} names ${mention.id}, which docs/spec.md does not have`),
  ]
}

function parseTags(path: string, title: string): readonly string[] {
  return [...title.matchAll(/\[([^\]]*)\]/g)].flatMap(([bracket, inside = '']) => {
    if (TAG.test(inside)) return inside.split(' ')
    // Passing over a tag like [LG1, LG2] would lose the rule without a word.
    if (LOOKS_LIKE_TAG.test(inside)) {
      throw new Error(`${path}: write ${bracket} as ids with one space between them`)
    }
    return []
  })
}

/** `it.each(rows)` → ['it', 'each'], whatever is called or tagged on the way. */
function readCallee(node: ESTree.Expression): readonly string[] {
  switch (node.type) {
    case 'Identifier':
      return [node.name]
    case 'MemberExpression':
      return node.property.type === 'Identifier'
        ? [...readCallee(node.object), node.property.name]
        : readCallee(node.object)
    case 'CallExpression':
      return readCallee(node.callee)
    case 'TaggedTemplateExpression':
      return readCallee(node.tag)
    default:
      return []
  }
}

function readText(node: ESTree.Argument | undefined): string {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral') {
    return node.quasis.map((quasi) => quasi.value.cooked ?? '').join('…')
  }
  return ''
}
