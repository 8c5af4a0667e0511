import type { LanguageModel } from 'ai'
import { loadModel } from './load-model.ts'

/**
 * The model that `HOLDFAST_MODEL` names, as `holdfast serve` reads it: `demo`, `openai:MODEL`, `anthropic:MODEL` or
 * `openai-compatible:MODEL`; the demo model, which needs no key, where it is not set. For servers of your own that
 * should run without an account. Rejects with one sentence about what to set or to install.
 * @param env where the names are looked up. @default process.env
 *
 * @example
 * const holdfast = createHoldfast({ store: sqlite('chat.db'), model: await modelFromEnvironment() })
 */
export async function modelFromEnvironment(
  env: NodeJS.ProcessEnv = process.env,
): Promise<LanguageModel> {
  const { model } = await loadModel(env['HOLDFAST_MODEL'] || 'demo', env)
  return model
}
