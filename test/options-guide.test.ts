import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { apiRules } from '../src/client/api.ts'
import { chatTransportRules } from '../src/client/chat-transport.ts'
import { threadClientRules } from '../src/client/thread-client-options.ts'
import { sharedThreadClientRules } from '../src/client/shared-thread-client.ts'
import { sharesClientRules } from '../src/client/shares-client.ts'
import { toolCallsClientRules } from '../src/client/tool-calls-client.ts'
import type { OptionRule } from '../src/core/check-options.ts'
import { fileRules } from '../src/engine/files/file-options.ts'
import { s3Rules } from '../src/files/s3/s3-files.ts'
import {
  agentRules,
  engineRules,
  policyRules,
  settingRules,
  titleRules,
} from '../src/engine/options/option-rules.ts'
import { recordContinueRules, recordMessageRules } from '../src/engine/record/record-request.ts'
import { recordingResponseRules } from '../src/engine/record/recording-response.ts'
import { memoryRules } from '../src/store/memory/memory-store.ts'
import { postgresRules } from '../src/store/postgres/postgres-store.ts'
import { sqliteRules } from '../src/store/sqlite/sqlite-store.ts'

// The call settings of an agent have a table of their own.
const ownOfAgent = Object.fromEntries(
  Object.entries(agentRules).filter(([name]) => !Object.hasOwn(settingRules, name)),
)

const tables: Readonly<Record<string, Readonly<Record<string, OptionRule>>>> = {
  createHoldfast: engineRules,
  title: titleRules,
  files: fileRules,
  s3Files: s3Rules,
  agent: ownOfAgent,
  policies: policyRules,
  settings: settingRules,
  sqlite: sqliteRules,
  postgres: postgresRules,
  memory: memoryRules,
  createApi: apiRules,
  createThreadClient: threadClientRules,
  createSharesClient: sharesClientRules,
  createSharedThreadClient: sharedThreadClientRules,
  createToolCallsClient: toolCallsClientRules,
  createChatTransport: chatTransportRules,
  record: recordMessageRules,
  'record, continue': recordContinueRules,
  toResponse: recordingResponseRules,
}

it('[CF1] the guide lists every option with the default and the range that are checked', async () => {
  const guide = await readFile(new URL('../docs/guides/options.md', import.meta.url), 'utf8')
  const told = Object.fromEntries(
    guide
      .split('\n## ')
      .slice(1)
      .map((section) => [
        section.slice(0, section.indexOf('\n')),
        [...section.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) \|/gm)].map((row) => row.slice(1)),
      ]),
  )
  const checked = Object.fromEntries(
    Object.entries(tables).map(([name, rules]) => [
      name,
      Object.entries(rules).map(([option, rule]) => [
        option,
        rule.default ?? 'required',
        rule.range,
      ]),
    ]),
  )
  expect(told).toEqual(checked)
})
