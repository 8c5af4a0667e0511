import '../../assert-node.ts'
export { postgres, type PostgresStoreOptions } from './postgres-store.ts'
