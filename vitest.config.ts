import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// The package's own name resolves to its sources, so tests import what users import.
// `module` is for bundlers: handed on to Node, it leads to files that Node cannot load.
const conditions = [
  'holdfast-source',
  ...defaultServerConditions.filter((condition) => condition !== 'module'),
]

// Tests start hundreds of processes from the sources. Without the cache each of them strips and compiles every module
// anew, which is more than half of what its start costs. Workers and their processes inherit the variable.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node')

// What takes the processor longest, each of these far longer than any other file.
const longest: readonly string[] = [
  'test/packed/packed-package.test.ts',
  'test/server/next-start.test.ts',
  'test/conformance/store-rules-reopened.test.ts',
  'test/conformance/store-rules-pooled.test.ts',
  'test/crash/conversation.test.ts',
  'test/docs/code-blocks.test.ts',
  'test/simulation/',
  'test/e2e/accessibility.test.ts',
  'test/torture/',
  'test/conformance/',
  'test/crash/',
  'test/postgres/',
  'test/server/http-rules',
  'test/e2e/',
]

/** The folders whose tests share a process, except for the files that need a database or start processes, */
const sharing: readonly string[] = ['demo', 'engine', 'providers', 'server', 'store']
const needsSetup = /postgresUrl|openTestDatabase|ServerProcess|child_process|check-http-rules/
/** and for those that test what is written once per process. */
const oncePerProcess: readonly string[] = [
  'test/engine/call-names.test.ts',
  'test/engine/stream-text-options.test.ts',
]
const notSharing: readonly string[] = [
  ...sharing
    .flatMap((folder) =>
      readdirSync(join(import.meta.dirname, 'test', folder)).map(
        (name) => `test/${folder}/${name}`,
      ),
    )
    .filter((file) => /\.test\.tsx?$/.test(file))
    .filter((file) => needsSetup.test(readFileSync(join(import.meta.dirname, file), 'utf8'))),
  ...oncePerProcess,
]

/** Begins with what takes longest: a long file that begins last is waited for by every other worker. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longest.findIndex((path) => moduleId.includes(path))
      return rank === -1 ? longest.length : rank
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Machines are shared and noisy: a limit is there to end a hang, not to measure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Much of the time a test waits for a database, a browser or a process: one more runs meanwhile.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        // One module graph per worker: loading it anew for each of these small files takes as long as running them.
        test: { name: 'unit', include: ['src/**/*.test.{ts,tsx}'], isolate: false },
      },
      {
        extends: true,
        // The same: each of these files loads the whole engine, and needs neither a database nor a process of its own.
        test: {
          name: 'shared',
          include: [`test/{${sharing.join()}}/*.test.{ts,tsx}`],
          exclude: [...notSharing],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'suite',
          include: [
            'test/*.test.{ts,tsx}',
            `test/!(${sharing.join('|')}|projects)/**/*.test.{ts,tsx}`,
            ...notSharing,
          ],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        // Of `npm run test:package` alone: they install from the registry.
        extends: true,
        test: {
          name: 'projects',
          include: ['test/projects/*.test.ts'],
          globalSetup: ['test/projects/global-setup.ts'],
          testTimeout: 900_000,
          hookTimeout: 1_200_000,
        },
      },
    ],
  },
})
