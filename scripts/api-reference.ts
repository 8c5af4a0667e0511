import type { Symbol } from 'typescript/unstable/sync'
import { type Declarations, type EntryPoint, readDeclarations } from './api-declarations.ts'

export interface ApiPage {
  /** `holdfast/sqlite`. */
  readonly entryPoint: string
  /** `api/holdfast-sqlite.md`. */
  readonly path: string
  readonly markdown: string
}

/** The reference of each entry point, made from its declarations and the comments above them. */
export const toApiReference = (): readonly ApiPage[] =>
  readDeclarations({ comments: true }, (declarations) =>
    declarations.entryPoints.map((entryPoint) => ({
      entryPoint: entryPoint.name,
      path: pathOf(entryPoint.name),
      markdown: describeEntryPoint(entryPoint, declarations),
    })),
  )

const pathOf = (entryPoint: string): string => `api/${entryPoint.replaceAll('/', '-')}.md`

/** What a name is, by the word that its declaration begins with; in the order in which people look. */
const kinds = [
  { title: 'Functions and values', begins: /^(?:function|const|let)\b/ },
  { title: 'Classes', begins: /^(?:abstract )?class\b/ },
  { title: 'Types', begins: /^(?:interface|type)\b/ },
] as const

function describeEntryPoint({ name, exports }: EntryPoint, declarations: Declarations): string {
  const { places } = declarations
  const isElsewhere = (symbol: Symbol) => places.get(symbol)?.entryPoint !== name
  const own = [...exports].filter(([, symbol]) => !isElsewhere(symbol))
  const again = [...exports]
    .filter(([, symbol]) => isElsewhere(symbol))
    .map(([alias, symbol]) => {
      const { entryPoint = name } = places.get(symbol) ?? {}
      return `- \`${alias}\`, of [${entryPoint}](/${pathOf(entryPoint)}#${toAnchor(alias)})`
    })
  const sections = kinds.flatMap(({ title, begins }) => {
    const entries = own
      .map(([alias, symbol]) => ({ alias, symbol, text: declarations.text(symbol) }))
      .filter(({ text }) => begins.test(text))
      .toSorted((one, other) => (one.alias < other.alias ? -1 : 1))
      .map(({ alias, symbol, text }) =>
        [`### ${alias}`, toProse(declarations.comment(symbol)), `\`\`\`ts\n${text}\n\`\`\``].join(
          '\n\n',
        ),
      )
    return entries.length === 0 ? [] : [`## ${title}`, ...entries]
  })
  return `${[
    `# ${name}`,
    `What \`import { … } from '${name}'\` has, with its types.`,
    ...sections,
    ...(again.length === 0 ? [] : ['## Also exported here', again.join('\n')]),
  ].join('\n\n')}\n`
}

const toAnchor = (name: string): string => name.toLowerCase()

/** A TSDoc comment as Markdown. What stands between backticks is left as it is. */
export function toProse(comment: string): string {
  return comment
    .replaceAll(
      /\{@link\s+([^}|]+?)\s*(?:\|\s*([^}]+?))?\s*\}/g,
      (_, name: string, text?: string) => (text === undefined ? `\`${name}\`` : text),
    )
    .replaceAll(/^@default\s+(.*)$/gm, '\n**Default:** $1')
    .replaceAll(/^@example[ \t]*\n?([\s\S]*?)(?=\n@|$(?![\s\S]))/gm, (_, code: string) =>
      code.includes('```') ? `\n${code}` : `\n\`\`\`ts\n${code.trim()}\n\`\`\``,
    )
    .replaceAll(/^@param\s+(\S+)\s+(?:-\s+)?(.*)$/gm, '\n- `$1`: $2')
    .replaceAll(/^@returns\s+(.*)$/gm, '\n**Returns** $1')
    .replaceAll(/^@throws\s+(.*)$/gm, '\n**Throws** $1')
    .split(/(```[\s\S]*?```|`[^`]*`)/)
    .map((text, index) =>
      index % 2 === 1 ? text : text.replaceAll('<', '&lt;').replaceAll('{{', '{&#123;'),
    )
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
