import '../../assert-node.ts'
export { processHolder } from './process-holder.ts'
export { sqlite, type SqliteStoreOptions } from './sqlite-store.ts'
