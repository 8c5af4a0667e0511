import { checkStoreRules } from './check-store-rules.ts'
import { hostPoolStore } from './stores-under-test.ts'

checkStoreRules(hostPoolStore)
