import { checkStoreRules } from './check-store-rules.ts'
import { reopenedStore } from './stores-under-test.ts'

checkStoreRules(reopenedStore)
