import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'vite'
import { programs, programsVariable } from './programs.ts'

const project = join(import.meta.dirname, '../..')
/** Below the project, so that what is not bundled is found from there. */
const cache = join(project, 'node_modules/.cache')

/** A program finds the files beside its sources, wherever it runs from. */
const placesOfSources: Plugin = {
  name: 'places-of-sources',
  transform(code, id) {
    if (id.includes('node_modules') || !code.includes('import.meta.dirname')) return null
    return code.replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
  },
}

/**
 * Bundles the programs once for a whole run. From its sources, each start of one resolves and loads hundreds of modules,
 * which takes the processor twice as long as all that it does then. Returns what removes them.
 */
export async function buildPrograms(): Promise<() => Promise<void>> {
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'holdfast-programs-'))
  await build({
    root: project,
    configFile: false,
    logLevel: 'error',
    plugins: [placesOfSources],
    ssr: { noExternal: true, external: ['vite'], resolve: { conditions: ['holdfast-source'] } },
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
