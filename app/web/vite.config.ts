import { join } from 'node:path'
import { defaultClientConditions, defineConfig } from 'vite'

const folder = import.meta.dirname

/** The page of the app. Inside this project `holdfast/…` is its source; elsewhere it is the package. */
export default defineConfig({
  root: folder,
  logLevel: 'warn',
  resolve: { conditions: ['holdfast-source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: join(folder, '../dist'),
    emptyOutDir: true,
    target: 'es2023',
    // The first that know light-dark(), which is otherwise replaced by something longer.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // What is inlined would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
