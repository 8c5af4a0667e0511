import type { ChildProcess } from 'node:child_process'

interface BrokerRequest {
  readonly id: number
  readonly verb: 'publish' | 'set' | 'get' | 'incr' | 'subscribe' | 'unsubscribe'
  readonly args: readonly string[]
}

/** As much of Redis as `resumable-stream` uses, in this process: it outlives those that are killed. */
export function createBroker() {
  const values = new Map<string, string>()
  const subscribers = new Map<string, Set<ChildProcess>>()
  const answer = (child: ChildProcess, { verb, args }: BrokerRequest): unknown => {
    const [name = '', value = ''] = args
    switch (verb) {
      case 'publish':
        for (const other of subscribers.get(name) ?? []) {
          if (other.connected) other.send({ channel: name, message: value })
        }
        return subscribers.get(name)?.size ?? 0
      case 'set':
        values.set(name, value)
        return 'OK'
      case 'get':
        return values.get(name) ?? null
      case 'incr':
        values.set(name, String(Number(values.get(name) ?? 0) + 1))
        return Number(values.get(name))
      case 'subscribe':
        subscribers.set(name, (subscribers.get(name) ?? new Set()).add(child))
        return 1
      case 'unsubscribe':
        subscribers.get(name)?.delete(child)
        return 1
      default:
        throw new Error(`The broker does not know ${String(verb)}.`)
    }
  }
  return {
    serve(child: ChildProcess): void {
      child.on('message', (message) => {
        const request = message as BrokerRequest
        if (child.connected) child.send({ reply: request.id, value: answer(child, request) })
      })
    },
    leave(child: ChildProcess): void {
      for (const listening of subscribers.values()) listening.delete(child)
    },
  }
}
