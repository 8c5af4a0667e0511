import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'vite'
import { programs, programsVariable } from './programs.ts'

const project = join(import.meta.dirname, '../..')

/**
 * Bundles the programs once for a whole run. From its sources, each start of one resolves and loads hundreds of modules,
 * which takes the processor twice as long as all that it does then. Returns what removes them.
 */
export async function buildPrograms(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-programs-'))
  await build({
    root: project,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, resolve: { conditions: ['holdfast-source'] } },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      minify: false,
      target: 'node22',
      rolldownOptions: {
        input: Object.fromEntries(
          programs.map((program) => [basename(program, '.ts'), join(project, program)]),
        ),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  })
  process.env[programsVariable] = folder
  return async () => {
    Reflect.deleteProperty(process.env, programsVariable)
    await rm(folder, { recursive: true, force: true })
  }
}
