import { checkStoreRules } from './check-store-rules.ts'
import { memoryStore, sqliteStore } from './stores-under-test.ts'

checkStoreRules(memoryStore)
checkStoreRules(sqliteStore)
