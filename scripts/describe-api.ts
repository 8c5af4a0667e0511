import type { Symbol } from 'typescript/unstable/sync'
import { type Declarations, type EntryPoint, readDeclarations } from './api-declarations.ts'

/**
 * What each entry point of the package exports: pages of Markdown by the name of their file. They are made
 * from the declarations that a user of the package compiles against, and are the same on every machine.
 */
export const describeApi = (): ReadonlyMap<string, string> =>
  readDeclarations(
    { comments: false },
    (declarations) =>
      new Map(
        declarations.entryPoints.map((entryPoint) => [
          `${entryPoint.name.replaceAll('/', '-')}.md`,
          describeEntryPoint(entryPoint, declarations),
        ]),
      ),
  )

function describeEntryPoint(
  { name, exports }: EntryPoint,
  { places, ...reader }: Declarations,
): string {
  const isElsewhere = (symbol: Symbol) => (places.get(symbol)?.entryPoint ?? name) !== name
  const own = [...exports].filter(([, symbol]) => !isElsewhere(symbol))
  const again = [...exports.values()].filter(isElsewhere)
  const hidden = new Set<Symbol>()
  const used = new Set<Symbol>()
  const follow = (symbol: Symbol) => {
    for (const mentioned of reader.mentions(symbol)) {
      if (isElsewhere(mentioned)) used.add(mentioned)
      else if (!places.has(mentioned) && !hidden.has(mentioned)) {
        hidden.add(mentioned)
        follow(mentioned)
      }
    }
  }
  for (const [, symbol] of own) follow(symbol)

  const toCode = (names: readonly (readonly [string, Symbol])[]) => {
    const texts = names
      .map(([alias, symbol]) => ({ alias, symbol, text: reader.text(symbol) }))
      .toSorted((one, other) => compare(one.alias, other.alias) || compare(one.text, other.text))
      .map(({ alias, symbol, text }) => (alias === symbol.name ? text : `// as ${alias}:\n${text}`))
    return `\`\`\`ts\n${texts.join('\n\n')}\n\`\`\``
  }
  const toList = (symbols: Iterable<Symbol>) =>
    [...symbols]
      .flatMap((symbol) => places.get(symbol) ?? [])
      .map((place) => `- \`${place.name}\` of \`${place.entryPoint}\``)
      .toSorted(compare)
      .join('\n')
  const sections = [
    [`# ${name}`, 'Written by `npm run api-report`, and compared by a test.'],
    own.length === 0 ? [] : ['## Exports', toCode(own)],
    again.length === 0 ? [] : ['## Exports that are described elsewhere', toList(again)],
    hidden.size === 0
      ? []
      : [
          '## Not exported, but part of what is',
          toCode([...hidden].map((symbol) => [symbol.name, symbol])),
        ],
    used.size === 0 ? [] : ['## Used from elsewhere', toList(used)],
  ]
  return `${sections.flat().join('\n\n')}\n`
}

/** By code unit: the order must not depend on the language of a machine. */
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
