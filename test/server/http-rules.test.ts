import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkHttpRules } from './check-http-rules.ts'

checkHttpRules('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-http-'))
  return {
    db: join(folder, 'chat.db'),
    cleanUp: () => rm(folder, { recursive: true, force: true }),
  }
})
