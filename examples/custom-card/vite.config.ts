import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  logLevel: 'warn',
  // Only in Holdfast's own repository: there the package is its source. In a project of yours, leave it out.
  resolve: { conditions: ['holdfast-source', ...defaultClientConditions] },
})
