import { posix } from 'node:path'
import type { ESTree } from 'vite'
import { parseModule, visitModule } from './parse-module.ts'
import type { Files } from './read-files.ts'

/** What the architecture checks need to know about one file. */
export interface ModuleShape {
  readonly path: string
  readonly isTest: boolean
  /** Every module that it names: imports, re-exports, dynamic imports and `import('…')` types. */
  readonly specifiers: readonly string[]
  /** Whether every statement is `export { name } from '…'`, after the check of the Node version. */
  readonly onlyReExportsByName: boolean
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
  if (!/\.tsx?$/.test(path)) return { path, isTest, specifiers: [], onlyReExportsByName: false }

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
  return { path, isTest, specifiers, onlyReExportsByName }
}

const isNodeCheck = ({ source, specifiers }: ESTree.ImportDeclaration): boolean =>
  specifiers.length === 0 && /^(?:\.\.?\/)+assert-node\.ts$/.test(source.value)
