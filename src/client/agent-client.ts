import { isJsonObject, type JsonObject } from '../core/json.ts'
import { type Api, type ApiOptions, createApi } from './api.ts'
import { createExternalStore, type ExternalStore } from './external-store.ts'

/** A model that the person may pick, as the server describes it. */
export interface ModelInfo {
  /** The value of `choices.model`. */
  readonly id: string
  readonly label: string
  readonly description?: string
  /** The media types of files that it accepts. Absent: not known. */
  readonly accepts?: readonly string[]
}

/** What the person may choose for an answer. */
export interface AgentInfo {
  /** Empty until it has been read, and if there is none to pick. */
  readonly models: readonly ModelInfo[]
  /** The JSON Schema of `choices`; null until it has been read, and if nothing can be chosen. */
  readonly choices: JsonObject | null
  /** The signed-in person as the server identifies them; null until it has been read, and with an older server. */
  readonly person: string | null
  /** Whether threads can be shared on this server. */
  readonly sharing: boolean
}

/** An older server leaves out what it does not know. */
type AnsweredInfo = { readonly [Name in keyof AgentInfo]?: AgentInfo[Name] | null }

const nothing: AgentInfo = { models: [], choices: null, person: null, sharing: false }

/**
 * What may be chosen on this server, read once with the first subscriber. If it cannot be read there is nothing to
 * choose, and the next subscriber tries again.
 */
export function createAgentClient(options: ApiOptions): ExternalStore<AgentInfo> {
  const api: Api = createApi(options)
  let isRead = false
  const read = async (signal: AbortSignal) => {
    try {
      const answer = await api.get<unknown>('/api/agent', signal)
      // The answer of something else, such as a proxy: nothing has been read.
      if (!isJsonObject(answer)) return
      isRead = true
      const info = answer as AnsweredInfo
      store.update(() => ({
        models: info.models ?? [],
        choices: info.choices ?? null,
        person: info.person ?? null,
        sharing: info.sharing ?? false,
      }))
    } catch {
      // An older server, or none: there is no picker, and messages are sent without choices.
    }
  }
  const store = createExternalStore<AgentInfo>(nothing, () => {
    const controller = new AbortController()
    if (!isRead) void read(controller.signal)
    return () => controller.abort()
  })
  return { getSnapshot: store.getSnapshot, subscribe: store.subscribe }
}
