import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// The package's own name resolves to its sources, so tests import what users import.
// `module` is for bundlers: handed on to Node, it leads to files that Node cannot load.
const conditions = [
  'holdfast-source',
  ...defaultServerConditions.filter((condition) => condition !== 'module'),
]

// Tests start hundreds of processes from the sources. Without the cache each of them strips and compiles every module
// anew, which is more than half of what its start costs. Workers and their processes inherit the variable.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node')

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Machines are shared and noisy: a limit is there to end a hang, not to measure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Much of the time a test waits for a database, a browser or a process: a core is not kept free.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        // One module graph per worker: loading it anew for each of these small files takes as long as running them.
        test: { name: 'unit', include: ['src/**/*.test.{ts,tsx}'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'suite',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/projects/**', '**/node_modules/**'],
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
