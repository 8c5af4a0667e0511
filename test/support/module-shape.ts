import { posix } from 'node:path'
import type { ESTree } from 'vite'
import { parseModule, type Program, visitModule } from './parse-module.ts'
import type { Files } from './read-files.ts'

/** What the architecture checks need to know about one file. */
export interface ModuleShape {
  readonly path: string
  readonly isTest: boolean
  /** Every module that it names: imports, re-exports, dynamic imports and `import('…')` types. */
  readonly specifiers: readonly string[]
  /** Which names of which modules it uses; null: all that there are. */
  readonly uses: readonly ModuleUse[]
  /** The functions, constants and classes that it exports, of its own or of other modules. */
  readonly exportedValues: readonly string[]
  /** Whether every statement is `export { name } from '…'`, after the check of the Node version. */
  readonly onlyReExportsByName: boolean
}

export interface ModuleUse {
  readonly specifier: string
  readonly names: readonly string[] | null
}

export function readShapes(files: Files): readonly ModuleShape[] {
  return [...files].map(([path, source]) => readShape(path, source))
}

/** The file that a relative specifier names, or undefined for a package. */
export function resolveRelative(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.')
    ? posix.normalize(posix.join(posix.dirname(from), specifier))
    : undefined
}

function readShape(path: string, source: string): ModuleShape {
  const isTest = /\.test\.tsx?$/.test(path)
  if (!/\.(?:tsx?|m?js)$/.test(path)) {
    const none = { specifiers: [], uses: [], exportedValues: [] }
    return { path, isTest, ...none, onlyReExportsByName: false }
  }

  const program = parseModule(path, source)
  const specifiers: string[] = []
  const add = (node: { readonly source: ESTree.Expression | null }): void => {
    if (node.source?.type !== 'Literal') return
    if (typeof node.source.value === 'string') specifiers.push(node.source.value)
  }
  visitModule(program, {
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  })
  const onlyReExportsByName = program.body.every(
    (node, index) =>
      (node.type === 'ExportNamedDeclaration' && node.source !== null) ||
      (index === 0 && node.type === 'ImportDeclaration' && isNodeCheck(node)),
  )
  const uses = readUses(program)
  return {
    path,
    isTest,
    specifiers,
    uses,
    exportedValues: program.body.flatMap(exportedBy),
    onlyReExportsByName,
  }
}

function readUses(program: Program): readonly ModuleUse[] {
  const uses: ModuleUse[] = []
  const useAll = (source: ESTree.Expression) => {
    if (source.type !== 'Literal' || typeof source.value !== 'string') return
    uses.push({ specifier: source.value, names: null })
  }
  visitModule(program, {
    ImportDeclaration({ source, specifiers }) {
      const isWhole = specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier')
      const names = specifiers.flatMap((each) =>
        each.type === 'ImportSpecifier' ? [nameOf(each.imported)] : ['default'],
      )
      uses.push({ specifier: source.value, names: isWhole ? null : names })
    },
    ExportNamedDeclaration({ source, specifiers }) {
      if (source === null) return
      uses.push({ specifier: source.value, names: specifiers.map(({ local }) => nameOf(local)) })
    },
    ExportAllDeclaration: ({ source }) => useAll(source),
    ImportExpression: ({ source }) => useAll(source),
    TSImportType: ({ source }) => useAll(source),
  })
  return uses
}

function exportedBy(node: Program['body'][number]): readonly string[] {
  if (node.type === 'ExportDefaultDeclaration') return ['default']
  if (node.type !== 'ExportNamedDeclaration' || node.exportKind === 'type') return []
  const { declaration, specifiers } = node
  const named = specifiers
    .filter(({ exportKind }) => exportKind !== 'type')
    .map(({ exported }) => nameOf(exported))
  switch (declaration?.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return declaration.id === null ? named : [...named, declaration.id.name]
    case 'VariableDeclaration':
      return [...named, ...declaration.declarations.flatMap(({ id }) => namesIn(id))]
    default:
      return named
  }
}

function namesIn(pattern: ESTree.BindingPattern): readonly string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) =>
        element === null
          ? []
          : namesIn(element.type === 'RestElement' ? element.argument : element),
      )
    case 'AssignmentPattern':
      return namesIn(pattern.left)
  }
}

const nameOf = (name: ESTree.ModuleExportName): string =>
  name.type === 'Literal' ? name.value : name.name

const isNodeCheck = ({ source, specifiers }: ESTree.ImportDeclaration): boolean =>
  specifiers.length === 0 && /^(?:\.\.?\/)+assert-node\.ts$/.test(source.value)
