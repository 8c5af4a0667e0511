import '../assert-node.ts'
export type { HttpFixture, HttpRule } from './http-rules/http-rule.ts'
export { httpRules } from './http-rules.ts'
export { randomLedger, type RandomLedgerOptions } from './random-ledger.ts'
export {
  type PromptMessage,
  type ScriptedCall,
  scriptedModel,
  type ScriptedModelOptions,
  type ScriptPart,
} from './scripted-model.ts'
export type { StoreClock, StoreFixture, StoreRule } from './store-rules/store-rule.ts'
export { storeRules } from './store-rules.ts'
export {
  simulate,
  type SimulatedStoreOptions,
  type SimulationOptions,
  type SimulationReport,
} from './simulation/simulate.ts'
export type { Violation } from './simulation/oracle.ts'
export {
  addCoverage,
  type Coverage,
  type CoverageKind,
  coverageKinds,
  emptyCoverage,
} from './simulation/coverage.ts'
