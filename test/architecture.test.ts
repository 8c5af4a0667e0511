import { describe, expect, it } from 'vitest'
import { findDeadExports } from './support/export-rules.ts'
import { findExtensionProblems, findIndexProblems, findNameProblems } from './support/file-rules.ts'
import { findCycles, findLayerProblems, findPublicImportProblems } from './support/layer-rules.ts'
import { type ModuleShape, readShapes } from './support/module-shape.ts'
import { readFiles, readProjectFile } from './support/read-files.ts'

const sources = readShapes(readFiles('src/**/*.*'))
const tests = readShapes(readFiles('test/**/*.ts', 'test/**/*.tsx'))
const users = readShapes(
  readFiles('app/**/*.{ts,tsx}', 'examples/**/*.{ts,tsx}', 'templates/**/*.{ts,tsx}'),
)
const scripts = readShapes(readFiles('scripts/**/*.ts'))
const others = readShapes(
  readFiles('bench/**/*.{ts,mjs}', 'bin/*.js', 'scripts/*.mjs', 'site/**/*.{ts,js}', '*.config.ts'),
)

describe('the layers', () => {
  it('import only what is to their left', () => {
    expect(sources).not.toEqual([])
    expect(findLayerProblems(sources)).toEqual([])
    expect(
      findLayerProblems(
        shapesOf({
          'src/core/fold.ts': `import { a } from './event.ts'; import type { b } from '../views/ui.ts'`,
          'src/views/ui.ts': `export { a } from '../core/fold.ts'; import '../import/read.ts'`,
          'src/store/store.ts': `type A = import('../engine/run.ts').Run`,
          'src/engine/run.ts': `await import('../server/routes.ts'); import pg from 'pg'`,
          'src/audit/check.ts': `import '../store/store.ts'; import '../engine/run.ts'`,
          'src/client/state.ts': `import '../core/fold.ts'; import '../store/store.ts'`,
          'src/cli/serve.ts': `import '../server/routes.ts'; import '../widgets/thread.tsx'`,
          'src/index.ts': `export { run } from './engine/run.ts'; export { x } from './server/x.ts'`,
          'src/stray.ts': ``,
          'src/core/fold.test.ts': `import '../engine/run.ts'`,
        }),
      ),
    ).toEqual([
      'src/core/fold.ts: core may not import src/views/ui.ts',
      'src/views/ui.ts: views may not import src/import/read.ts',
      'src/store/store.ts: store may not import src/engine/run.ts',
      'src/engine/run.ts: engine may not import src/server/routes.ts',
      'src/audit/check.ts: audit may not import src/engine/run.ts',
      'src/client/state.ts: client may not import src/store/store.ts',
      'src/cli/serve.ts: cli may not import src/widgets/thread.tsx',
      'src/index.ts: index.ts may not import src/server/x.ts',
      'src/stray.ts is in no layer',
    ])
  })

  it('import no package where the code is pure, and never their own by name', () => {
    expect(
      findLayerProblems(
        shapesOf({
          'src/core/fold.ts': `import { readFileSync } from 'node:fs'`,
          'src/protocol/frames.ts': `import type { UIMessage } from 'ai'`,
          'src/engine/run.ts': `import type { UIMessage } from 'ai'; import 'holdfast/sqlite'`,
          'src/protocol/frames.test.ts': `import fc from 'fast-check'`,
        }),
      ),
    ).toEqual([
      'src/core/fold.ts: core may not import node:fs',
      'src/protocol/frames.ts: protocol may not import ai',
      'src/engine/run.ts imports holdfast/sqlite, its own package, by name',
    ])
  })

  it('[AG9] use what is experimental or internal in the AI SDK in one file only', () => {
    const names = /\b[Ee]xperimental_(?!attachments\b|repairToolCall\b)\w+|\b_internal\b/
    const isOurs = (path: string) => !/\.test\.tsx?$/.test(path)
    const users = [...readFiles('src/**/*.{ts,tsx}')].filter(
      ([path, source]) => isOurs(path) && names.test(source),
    )
    expect(users.map(([path]) => path)).toEqual(['src/engine/model/sdk-layer.ts'])
  })

  it('have no circles between files', () => {
    expect(findCycles(sources)).toEqual([])
    expect(
      findCycles(
        shapesOf({
          'src/core/a.ts': `import { b } from './b.ts'; import { d } from './d.ts'`,
          'src/core/b.ts': `import type { c } from './c.ts'`,
          'src/core/c.ts': `export { a } from './a.ts'`,
          'src/core/d.ts': `import './b.ts'`,
        }),
      ),
    ).toEqual(['src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts'])
  })

  it('are used by app and examples through the public names only', () => {
    const { exports } = JSON.parse(readProjectFile('package.json')) as { exports: object }
    const publicNames = Object.keys(exports).map((key) => key.replace('.', 'holdfast'))
    expect(publicNames).toContain('holdfast')
    expect(findPublicImportProblems(users, publicNames)).toEqual([])
    expect(
      findPublicImportProblems(
        shapesOf({
          'app/server/main.ts': `import 'holdfast'; import 'holdfast/engine/run.ts'; import '../web/a.ts'`,
          'examples/hono/main.ts': `import 'holdfast/sqlite'; import 'hono'; import '../../src/index.ts'`,
          'examples/minimal-node/main.ts': `import '../hono/main.ts'`,
        }),
        ['holdfast', 'holdfast/sqlite'],
      ),
    ).toEqual([
      'app/server/main.ts imports holdfast/engine/run.ts, which is not public',
      'examples/hono/main.ts reaches out of examples/hono/: ../../src/index.ts',
      'examples/minimal-node/main.ts reaches out of examples/minimal-node/: ../hono/main.ts',
    ])
  })
})

describe('the files', () => {
  it('have kebab-case names that say what they have', () => {
    expect(findNameProblems([...sources, ...tests])).toEqual([])
    expect(
      findNameProblems(
        shapesOf({
          'src/core/foldTurn.ts': '',
          'src/Core/fold.ts': '',
          'src/core/fold_turn.test.ts': '',
          'src/core/utils.ts': '',
          'src/core/types.test.ts': '',
          'src/core/call-types.ts': '',
          'src/widgets/tool-card.module.css': '',
        }),
      ),
    ).toEqual([
      'src/core/foldTurn.ts is not in kebab-case',
      'src/Core/fold.ts is not in kebab-case',
      'src/core/fold_turn.test.ts is not in kebab-case',
      'src/core/utils.ts is not named after what it has',
      'src/core/types.test.ts is not named after what it has',
    ])
  })

  it('import node:sqlite only as a type: an old Node would stop before it can say what is needed', () => {
    const importers = [...readFiles('src/**/*.ts')].filter(([, source]) =>
      /^(?:import|export) (?!type ).*from 'node:sqlite'/m.test(source),
    )
    expect(importers.map(([path]) => path)).toEqual([])
  })

  it('only re-export by name when they are an index', () => {
    expect(findIndexProblems(sources)).toEqual([])
    expect(
      findIndexProblems(
        shapesOf({
          'src/index.ts': `export { a } from './a.ts'; export type { B } from './b.ts'`,
          'src/server/index.ts': `import '../assert-node.ts'; export { a } from './a.ts'`,
          'src/engine/index.ts': `export { a } from './a.ts'; import '../assert-node.ts'`,
          'src/core/index.ts': `export * from './fold.ts'`,
          'src/views/index.ts': `import { a } from './a.ts'\nexport { a }`,
          'src/protocol/index.ts': `export { a } from './a.ts'\nexport const limit = 1`,
        }),
      ),
    ).toEqual([
      'src/engine/index.ts does more than re-export by name',
      'src/core/index.ts does more than re-export by name',
      'src/views/index.ts does more than re-export by name',
      'src/protocol/index.ts does more than re-export by name',
    ])
  })

  it('export no function, constant or class that no other file imports, unless it is public', () => {
    const { exports } = JSON.parse(readProjectFile('package.json')) as {
      exports: Readonly<Record<string, { readonly 'holdfast-source': string }>>
    }
    const entryPoints = Object.values(exports).map((entry) =>
      entry['holdfast-source'].replace('./', ''),
    )
    expect(entryPoints).toContain('src/index.ts')
    const users = [...tests, ...others]
    expect(findDeadExports([...sources, ...scripts], users, entryPoints)).toEqual([])
    expect(
      findDeadExports(
        shapesOf({
          'src/index.ts': `export { fold } from './core/fold.ts'; export const version = 1`,
          'src/core/fold.ts': `export function fold() {}; export const [a, { b, c: d = 1 }] = []; export class E {}`,
          'src/core/event.ts': `export type Event = 1; export interface Other {}; const x = 1, y = 2
            export { x, y as z, type Event as Third }; export default x; import './event.ts'`,
          'src/core/all.ts': `export const one = 1`,
          'src/core/again.ts': `export { one, two } from './all.ts'; export { E } from './fold.ts'`,
          'src/core/whole.ts': `export const kept = 1`,
          'src/core/later.ts': `export const kept = 1`,
          'src/core/fold.test.ts': `export const unused = 1; import * as whole from './whole.ts'`,
        }),
        shapesOf({
          'test/a.ts': `import { a, d as b } from '../src/core/fold.ts'; await import('../src/core/later.ts')`,
          'bench/a.ts': `import x, { z } from '../src/core/event.ts'; import type { one } from '../src/core/again.ts'`,
        }),
        ['src/index.ts'],
      ),
    ).toEqual([
      'src/core/fold.ts: nothing imports b',
      'src/core/event.ts: nothing imports x',
      'src/core/again.ts: nothing imports two',
      'src/core/again.ts: nothing imports E',
    ])
  })

  it('name the extension in relative imports', () => {
    expect(findExtensionProblems([...sources, ...tests, ...users])).toEqual([])
    expect(
      findExtensionProblems(
        shapesOf({
          'src/core/a.ts': `import './b'; import './c.js'; import './d.ts'; import 'pg'`,
          'src/widgets/a.tsx': `import './card.css'; import { x } from './card.tsx'; import '..'`,
        }),
      ),
    ).toEqual([
      'src/core/a.ts: ./b does not end in .ts',
      'src/core/a.ts: ./c.js does not end in .ts',
      'src/widgets/a.tsx: .. does not end in .ts',
    ])
  })
})

function shapesOf(files: Readonly<Record<string, string>>): readonly ModuleShape[] {
  return readShapes(new Map(Object.entries(files)))
}
