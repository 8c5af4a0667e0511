import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, relative } from 'node:path'
import type { Node } from 'typescript/unstable/ast'
import { isIdentifier, isSourceFile, isVariableDeclaration } from 'typescript/unstable/ast/is'
import { API, type Checker, type Project, type Symbol, SymbolFlags } from 'typescript/unstable/sync'
import packageJson from '../package.json' with { type: 'json' }
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')

export interface EntryPoint {
  /** `holdfast/sqlite`. */
  readonly name: string
  /** What it exports, by the name that it has there. */
  readonly exports: ReadonlyMap<string, Symbol>
}

export interface Place {
  readonly entryPoint: string
  readonly name: string
}

export interface Declarations {
  readonly entryPoints: readonly EntryPoint[]
  /** Where a name is described: with the first of the entry points that export it. */
  readonly places: ReadonlyMap<Symbol, Place>
  /** The declarations of a name, as TypeScript writes them into a `.d.ts` file. */
  text(symbol: Symbol): string
  /** The comment above a name, without its stars; empty where there is none, or comments were left out. */
  comment(symbol: Symbol): string
  /** The names of this package that stand in them. */
  mentions(symbol: Symbol): readonly Symbol[]
}

/**
 * Reads the declarations that a user of the package compiles against, and closes them when `use` has returned.
 */
export function readDeclarations<Result>(
  { comments }: { readonly comments: boolean },
  use: (declarations: Declarations) => Result,
): Result {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-api-')))
  const api = new API({ cwd: folder })
  try {
    emitDeclarations(folder, comments)
    const snapshot = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] })
    const [opened] = snapshot.getProjects()
    if (opened === undefined) throw new Error('TypeScript did not open the declarations.')
    const entryPoints = readEntryPoints(opened, folder)
    const places = new Map<Symbol, Place>()
    for (const { name: entryPoint, exports } of entryPoints) {
      for (const [name, symbol] of exports) {
        if (!places.has(symbol)) places.set(symbol, { entryPoint, name })
      }
    }
    return use({ entryPoints, places, ...createReader(opened.checker, folder) })
  } finally {
    api.close()
    rmSync(folder, { recursive: true })
  }
}

function emitDeclarations(folder: string, comments: boolean): void {
  const config = join(project, 'tsconfig.build.json')
  // Types are checked elsewhere: code with an error in it can be described all the same.
  const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', folder]
  const removed = comments ? [] : ['--removeComments']
  if (runCommand('tsc', ['-p', config, ...options, ...removed]) !== 0) {
    throw new Error('TypeScript wrote no declarations, see above.')
  }
  // Only names of this package are followed, so other packages need not be found from there.
  const compilerOptions = { module: 'nodenext', allowImportingTsExtensions: true, noEmit: true }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, types: [] }, include: ['**/*.d.ts'] }),
  )
}

const readEntryPoints = (declarations: Project, folder: string): readonly EntryPoint[] =>
  Object.entries(packageJson.exports)
    .filter(([path]) => !path.endsWith('.css'))
    .map(([path, { types }]) => ({
      name: posix.join(packageJson.name, path),
      exports: readExports(declarations, join(folder, relative('dist', types))),
    }))

function readExports({ program, checker }: Project, file: string): ReadonlyMap<string, Symbol> {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`There are no declarations in ${file}.`)
  const exports = checker.getExportsOfModule(module)
  return new Map(exports.map((symbol) => [symbol.name, withoutAlias(symbol, checker)]))
}

const withoutAlias = (symbol: Symbol, checker: Checker): Symbol =>
  (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)

function createReader(
  checker: Checker,
  folder: string,
): Pick<Declarations, 'text' | 'comment' | 'mentions'> {
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
    comment: (symbol) =>
      statements(symbol)
        .flatMap(
          (statement) => statement.getFullText().match(/^\s*\/\*\*([\s\S]*?)\*\//)?.[1] ?? [],
        )
        .map((comment) => comment.replaceAll(/^[ \t]*\* ?/gm, '').trim())
        .join('\n\n'),
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
