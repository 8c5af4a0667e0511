import {
  callback,
  flag,
  having,
  type OptionTable,
  text,
  wholeNumber,
} from '../core/check-options.ts'
import { apiRules, type ApiOptions } from './api.ts'
import type { ClientClock, Network } from './network.ts'

/** The options of `createThreadClient`. */
export interface ThreadClientOptions extends ApiOptions {
  /** The thread that is shown. One that does not exist yet is created by its first message. */
  readonly threadId: string
  /**
   * How many messages are read at once.
   *
   * @default 30
   */
  readonly pageSize?: number
  /**
   * A chat that does not exist yet: it is created by its first message.
   * @default false
   */
  readonly isNew?: boolean
  /**
   * From 0 to 1, for the random share of a delay.
   * @default Math.random
   */
  readonly random?: () => number
  /**
   * Generates the ids of messages that are written here.
   * @default random ids
   */
  readonly newId?: () => string
  /**
   * Decides when a connection is dead, and waits before the next.
   * @default the browser’s: dead after 45 s of silence or when the device goes offline
   */
  readonly network?: Network
  /**
   * The time and the timers, for tests.
   * @default the system’s
   */
  readonly clock?: ClientClock
}

export const threadClientRules: OptionTable<ThreadClientOptions> = {
  ...apiRules,
  threadId: text(),
  pageSize: wholeNumber(1, 200, '30'),
  isNew: flag('false'),
  random: callback('Math.random'),
  newId: callback('random ids'),
  network: having(
    'a network with isOnline, guard and wait',
    ['isOnline', 'guard', 'wait'],
    'the browser’s',
  ),
  clock: having('a clock with now and after', ['now', 'after'], 'the system’s'),
}
