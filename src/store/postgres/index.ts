import '../../assert-node.ts'
export {
  postgres,
  type PostgresSource,
  type PostgresStore,
  type PostgresStoreOptions,
} from './postgres-store.ts'
export type { HostClient, HostPool } from './host-pool.ts'
