import { type ESTree, parseSync, Visitor, type VisitorObject } from 'vite'

export type Program = ESTree.Program

/** Reads TypeScript as a tree, so that comments and strings are never taken for code. */
export function parseModule(path: string, source: string): Program {
  const { program, errors } = parseSync(path, source)
  const [error] = errors
  if (error) throw new Error(`${path} cannot be parsed: ${error.message}`)
  return program
}

export function visitModule(program: Program, visitor: VisitorObject): void {
  new Visitor(visitor).visit(program)
}
