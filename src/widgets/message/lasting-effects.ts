import type { ThreadClient } from '../../client/thread-snapshot.ts'
import { callsOf, isTurn, type Message } from '../../core/message.ts'
import type { CallActions } from '../call-actions.ts'
import { usePersistentUiState } from '../persistent-ui-state.tsx'

/** The same for every version of a message, so that the element that shows them keeps its position and focus. */
export const versionKeyOf = (message: Message): string => message.versions?.[0]?.id ?? message.id

/** The tools whose effect remains although their calls are no longer visible, to be shown next to a message (VR3). */
export const useEffectNames = (key: string) =>
  usePersistentUiState<readonly string[]>(`effects ${key}`, [])

/**
 * The tools of loaded calls from a message on that took effect and are not repeatable: an edit or a regenerated answer
 * does not undo them.
 */
export async function readEffects(
  client: ThreadClient,
  { isRepeatable }: CallActions,
  from: string,
): Promise<readonly string[]> {
  const { messages } = client.getSnapshot()
  const first = messages.findIndex(({ id }) => id === from)
  const names = new Set<string>()
  for (const message of first < 0 ? [] : messages.slice(first)) {
    if (!isTurn(message)) continue
    for (const { name, state, providerExecuted } of callsOf(message)) {
      const hasRun = state === 'succeeded' || state === 'unknown'
      if (hasRun && providerExecuted !== true && !names.has(name)) {
        if ((await isRepeatable?.(name).catch(() => false)) !== true) names.add(name)
      }
    }
  }
  return [...names]
}
