import { callback, type OptionTable } from '../core/check-options.ts'
import { holdfastRules } from '../engine/option-rules.ts'
import { handlerRules } from '../server/option-rules.ts'
import type { HoldfastConfig } from './config.ts'

const {
  store: _store,
  hooks: _hooks,
  clock: _clock,
  newId: _newId,
  holder: _holder,
  model,
  ...engine
} = holdfastRules
const { authenticate, allowedOrigins, limits, sharing, trustProxy } = handlerRules

/** A config file: what `createHoldfast` and `createHandler` take, as far as a file says it. */
export const configRules: OptionTable<HoldfastConfig> = {
  ...engine,
  model: { ...model, default: 'HOLDFAST_MODEL, or the demo' },
  authenticate,
  allowedOrigins,
  limits,
  sharing,
  trustProxy,
  pages: callback('there are none'),
}
