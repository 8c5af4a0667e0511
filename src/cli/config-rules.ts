import { callback, type OptionTable } from '../core/check-options.ts'
import { holdfastRules } from '../engine/options/option-rules.ts'
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

/** The rules of a config file: the options of `createHoldfast` and `createHandler` that a file can contain. */
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
