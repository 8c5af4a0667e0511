import { callback, type OptionTable } from '../core/check-options.ts'
import { withCheckedFixtures } from './check-fixture.ts'
import { aboutRules } from './http-rules/about-rules.ts'
import { approvalRules } from './http-rules/approval-rules.ts'
import { badInputRules } from './http-rules/bad-input-rules.ts'
import { chatRules } from './http-rules/chat-rules.ts'
import { decisionRules } from './http-rules/decision-rules.ts'
import { eventRules } from './http-rules/event-rules.ts'
import { feedbackRules } from './http-rules/feedback-rules.ts'
import type { HttpFixture, HttpRule } from './http-rules/http-rule.ts'
import { importRules } from './http-rules/import-rules.ts'
import { keepRules } from './http-rules/keep-rules.ts'
import { messageRules } from './http-rules/message-rules.ts'
import { originRules } from './http-rules/origin-rules.ts'
import { ownerRules } from './http-rules/owner-rules.ts'
import { queueRules } from './http-rules/queue-rules.ts'
import { streamRules } from './http-rules/stream-rules.ts'
import { threadRules } from './http-rules/thread-rules.ts'
import { toolCallRules } from './http-rules/tool-call-rules.ts'
import { versionRules } from './http-rules/version-rules.ts'

const fixtureRules: OptionTable<HttpFixture> = {
  baseUrl: {
    range: 'an http:// or https:// address',
    fits: (value) =>
      typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
  },
  headersOf: callback('none'),
}

/**
 * What a server with the demo model and the demo tools must do, seen from outside: each rule has only its address.
 * Rules create their own threads, so they can run concurrently.
 */
export const httpRules: readonly HttpRule[] = withCheckedFixtures<HttpFixture, HttpRule>(
  [
    ...aboutRules,
    ...threadRules,
    ...keepRules,
    ...messageRules,
    ...eventRules,
    ...toolCallRules,
    ...approvalRules,
    ...decisionRules,
    ...chatRules,
    ...queueRules,
    ...streamRules,
    ...versionRules,
    ...feedbackRules,
    ...importRules,
    ...ownerRules,
    ...badInputRules,
    ...originRules,
  ],
  ({ needs }) =>
    needs === undefined
      ? { where: 'The check of an HTTP rule', table: fixtureRules }
      : {
          where: `The check of an HTTP rule that needs "${needs}"`,
          table: { ...fixtureRules, headersOf: callback() },
        },
)
