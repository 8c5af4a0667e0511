import { checkStoreRules } from './check-store-rules.ts'
import { pooledStore } from './stores-under-test.ts'

checkStoreRules(pooledStore)
