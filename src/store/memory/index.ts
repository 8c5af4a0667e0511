export { memory, type MemoryStoreOptions } from './memory-store.ts'
