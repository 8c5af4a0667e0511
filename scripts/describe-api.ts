import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, relative } from 'node:path'
import type { Node } from 'typescript/unstable/ast'
import { isIdentifier, isSourceFile, isVariableDeclaration } from 'typescript/unstable/ast/is'
import { API, type Checker, type Project, type Symbol, SymbolFlags } from 'typescript/unstable/sync'
import packageJson from '../package.json' with { type: 'json' }
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')

/**
 * What each entry point of the package exports: pages of Markdown by the name of their file. They are made
 * from the declarations that a user of the package compiles against, and are the same on every machine.
 */
export function describeApi(): ReadonlyMap<string, string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-api-')))
  const api = new API({ cwd: folder })
  try {
    emitDeclarations(folder)
    const snapshot = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] })
    const [declarations] = snapshot.getProjects()
    if (declarations === undefined) throw new Error('TypeScript did not open the declarations.')
    return describeEntryPoints(declarations, folder)
  } finally {
    api.close()
    rmSync(folder, { recursive: true })
  }
}

function emitDeclarations(folder: string): void {
  const config = join(project, 'tsconfig.build.json')
  // Types are checked elsewhere: code with an error in it can be described all the same.
  const options = ['--emitDeclarationOnly', '--removeComments', '--noCheck', '--outDir', folder]
  if (runCommand('tsc', ['-p', config, ...options]) !== 0) {
    throw new Error('TypeScript wrote no declarations, see above.')
  }
  // Only names of this package are followed, so other packages need not be found from there.
  const compilerOptions = { module: 'nodenext', allowImportingTsExtensions: true, noEmit: true }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, types: [] }, include: ['**/*.d.ts'] }),
  )
}

interface EntryPoint {
  readonly name: string
  /** What it exports, by the name that it has there. */
  readonly exports: ReadonlyMap<string, Symbol>
}

function describeEntryPoints(declarations: Project, folder: string): ReadonlyMap<string, string> {
  const entryPoints = Object.entries(packageJson.exports)
    .filter(([path]) => !path.endsWith('.css'))
    .map(([path, { types }]): EntryPoint => ({
      name: posix.join(packageJson.name, path),
      exports: readExports(declarations, join(folder, relative('dist', types))),
    }))
  // What several entry points export is described with the first of them.
  const places = new Map<Symbol, Place>()
  for (const { name: entryPoint, exports } of entryPoints) {
    for (const [name, symbol] of exports) {
      if (!places.has(symbol)) places.set(symbol, { entryPoint, name })
    }
  }
  const reader = createReader(declarations.checker, folder)
  return new Map(
    entryPoints.map((entryPoint) => [
      `${entryPoint.name.replaceAll('/', '-')}.md`,
      describeEntryPoint(entryPoint, places, reader),
    ]),
  )
}

function readExports({ program, checker }: Project, file: string): ReadonlyMap<string, Symbol> {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`There are no declarations in ${file}.`)
  const exports = checker.getExportsOfModule(module)
  return new Map(exports.map((symbol) => [symbol.name, withoutAlias(symbol, checker)]))
}

const withoutAlias = (symbol: Symbol, checker: Checker): Symbol =>
  (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)

interface Place {
  readonly entryPoint: string
  readonly name: string
}

function describeEntryPoint(
  { name, exports }: EntryPoint,
  places: ReadonlyMap<Symbol, Place>,
  reader: Reader,
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

interface Reader {
  /** The declarations of a name, as TypeScript writes them into a `.d.ts` file. */
  text(symbol: Symbol): string
  /** The names of this package that stand in them. */
  mentions(symbol: Symbol): readonly Symbol[]
}

function createReader(checker: Checker, folder: string): Reader {
  const statements = (symbol: Symbol): readonly Node[] =>
    symbol.declarations.flatMap((handle) => {
      const node = handle.resolve()
      const statement = node && statementOf(node)
      const isOurs = statement?.getSourceFile().fileName.startsWith(`${folder}/`) === true
      return isOurs ? [statement] : []
    })
  return {
    text: (symbol) =>
      statements(symbol)
        .map((statement) => statement.getText().replace(/^(?:export )?(?:declare )?/, ''))
        .join('\n'),
    mentions(symbol) {
      const identifiers = statements(symbol).flatMap(identifiersIn)
      return checker
        .getSymbolAtLocation(identifiers)
        .flatMap((found) => (found === undefined ? [] : [withoutAlias(found, checker)]))
        .filter((found) => statements(found).length > 0)
    },
  }
}

/** The statement of a file that declares a name; none for members, parameters and the like. */
function statementOf(node: Node): Node | undefined {
  const statement = isVariableDeclaration(node) ? node.parent.parent : node
  return isSourceFile(statement.parent) ? statement : undefined
}

function identifiersIn(node: Node): readonly Node[] {
  if (isIdentifier(node)) return [node]
  const found: Node[] = []
  node.forEachChild((child) => {
    found.push(...identifiersIn(child))
  })
  return found
}
