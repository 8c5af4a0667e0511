import { type ESTree, parseSync } from 'vite'
import { expect, it } from 'vitest'
import { visitModule } from './support/parse-module.ts'
import { readFiles } from './support/read-files.ts'

interface Option {
  readonly name: string
  readonly isOptional: boolean
  /** What an editor shows when somebody points at it. */
  readonly comment: string
}

/** What people can import: everything else is nobody's to set. */
const isPublic = (() => {
  const pages = [...readFiles('api-report/*.md').values()].map(
    (page) => page.split('## Not exported')[0],
  )
  const names = pages.join('\n').matchAll(/^(?:export )?(?:declare )?interface (\w+)/gm)
  const known = new Set([...names].map(([, name]) => name))
  return (name: string) => known.has(name)
})()

/** The options of every interface of options that is exported. */
function readOptions(): ReadonlyMap<string, readonly Option[]> {
  const found = new Map<string, readonly Option[]>()
  for (const [path, source] of readFiles('src/**/*.{ts,tsx}')) {
    if (/\.test\.tsx?$/.test(path)) continue
    const { program, comments } = parseSync(path, source)
    const before = (node: { readonly start: number }) =>
      comments.find(({ end }) => source.slice(end, node.start).trim() === '' && end <= node.start)
        ?.value ?? ''
    visitModule(program, {
      TSInterfaceDeclaration({ id, body }: ESTree.TSInterfaceDeclaration) {
        if (!/(?:Options|Limits|Config|Agent|Callbacks|Policy)$/.test(id.name)) return
        if (!isPublic(id.name)) return
        found.set(
          `${path}: ${id.name}`,
          body.body.flatMap((member) =>
            member.type === 'TSPropertySignature' && member.key.type === 'Identifier'
              ? [{ name: member.key.name, isOptional: member.optional, comment: before(member) }]
              : [],
          ),
        )
      },
    })
  }
  return found
}

it('[CF1 OP5] every option says in its TSDoc what it does, and what holds without it', () => {
  const options = readOptions()
  const silent = [...options].flatMap(([where, list]) =>
    list
      .filter(
        ({ comment, isOptional }) =>
          comment === '' || (isOptional && !comment.includes('@default')),
      )
      .map(({ name }) => `${where}.${name}`),
  )
  expect(options.size).toBeGreaterThan(20)
  expect(silent).toEqual([])
})
