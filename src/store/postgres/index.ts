export { postgres, type PostgresStoreOptions } from './postgres-store.ts'
