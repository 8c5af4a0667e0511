import '../../assert-node.ts'
export { sqlite, type SqliteStoreOptions } from './sqlite-store.ts'
