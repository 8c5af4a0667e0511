import { checkStoreRules } from './check-store-rules.ts'
import { postgresStore } from './stores-under-test.ts'

checkStoreRules(postgresStore)
