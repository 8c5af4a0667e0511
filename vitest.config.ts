import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// The package's own name resolves to its sources, so tests import what users import.
const conditions = ['holdfast-source', ...defaultServerConditions]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.{ts,tsx}'] },
      },
      {
        extends: true,
        test: {
          name: 'suite',
          include: ['test/**/*.test.{ts,tsx}'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
})
