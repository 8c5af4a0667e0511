import type { LanguageModel } from 'ai'
import type { DemoTools } from '../demo/demo-tools.ts'
import { CliError } from './cli-error.ts'

export interface LoadedModel {
  readonly model: LanguageModel
  /** The tools of the model, where the config has none. Only the demo has any. */
  readonly own?: DemoTools
}

/** The model that HOLDFAST_MODEL names. Its provider is loaded only then. */
export async function loadModel(name: string, env: NodeJS.ProcessEnv): Promise<LoadedModel> {
  const [provider = '', ...rest] = name.split(':')
  const model = rest.join(':')
  if (provider === 'demo') return loadDemo(env)
  if (model === '' || !isProvider(provider)) {
    throw new CliError(
      `HOLDFAST_MODEL is demo, openai:MODEL, anthropic:MODEL or openai-compatible:MODEL, not "${name}".`,
    )
  }
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await load(() => import('@ai-sdk/openai'), '@ai-sdk/openai')
      const openai = createOpenAI({ apiKey: key(env, 'OPENAI_API_KEY'), ...address(env) })
      return { model: openai(model) }
    }
    case 'anthropic': {
      const { createAnthropic } = await load(() => import('@ai-sdk/anthropic'), '@ai-sdk/anthropic')
      const anthropic = createAnthropic({
        apiKey: key(env, 'ANTHROPIC_API_KEY'),
        ...address(env),
      })
      return { model: anthropic(model) }
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await load(
        () => import('@ai-sdk/openai-compatible'),
        '@ai-sdk/openai-compatible',
      )
      const { baseURL } = address(env)
      if (baseURL === undefined) {
        throw new CliError(
          'openai-compatible needs the URL of the server. Set HOLDFAST_MODEL_URL, for example to http://localhost:11434/v1.',
        )
      }
      const apiKey = env['HOLDFAST_MODEL_KEY']
      const compatible = createOpenAICompatible({
        name: 'openai-compatible',
        baseURL,
        includeUsage: true,
        ...(apiKey ? { apiKey } : {}),
      })
      return { model: compatible(model) }
    }
  }
}

type Provider = 'openai' | 'anthropic' | 'openai-compatible'

const isProvider = (name: string): name is Provider =>
  name === 'openai' || name === 'anthropic' || name === 'openai-compatible'

async function loadDemo(env: NodeJS.ProcessEnv): Promise<LoadedModel> {
  const { demoModel } = await import('../demo/demo-model.ts')
  const { createDemoTools } = await import('../demo/demo-tools.ts')
  const charges = env['HOLDFAST_DEMO_CHARGES']
  const own = createDemoTools(charges ? { charges } : {})
  const delay = env['HOLDFAST_DEMO_DELAY_MS']
  if (delay === undefined || delay === '') return { model: demoModel(), own }
  const delayMs = Number(delay)
  if (!Number.isSafeInteger(delayMs) || delayMs < 0) {
    throw new CliError(`HOLDFAST_DEMO_DELAY_MS is a number of milliseconds, not "${delay}".`)
  }
  return { model: demoModel({ delayMs }), own }
}

async function load<Module>(importModule: () => Promise<Module>, name: string): Promise<Module> {
  try {
    return await importModule()
  } catch (error) {
    throw new CliError(`The provider ${name} is not installed. Run \`npm install ${name}\`.`, {
      cause: error,
    })
  }
}

function key(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') {
    throw new CliError(`The model needs a key. Set ${name}.`)
  }
  return value
}

function address(env: NodeJS.ProcessEnv): { readonly baseURL?: string } {
  const url = env['HOLDFAST_MODEL_URL']
  if (url === undefined || url === '') return {}
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new CliError(`HOLDFAST_MODEL_URL is an http:// or https:// address, not "${url}".`)
  }
  return { baseURL: url.replace(/\/$/, '') }
}

const probeMs = 3_000

/** A warning if nothing responds at HOLDFAST_MODEL_URL; the model server may still start later. */
export async function findSilentServer(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { baseURL } = address(env)
  if (baseURL === undefined) return undefined
  try {
    const answer = await fetch(`${baseURL}/models`, { signal: AbortSignal.timeout(probeMs) })
    await answer.body?.cancel()
    return undefined
  } catch {
    return `Nothing answers at ${baseURL}. Start the model's server, or correct HOLDFAST_MODEL_URL.`
  }
}
