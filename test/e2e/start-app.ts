import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type AppServer, type AppServerOptions, startAppServer } from '../support/app-server.ts'
import { openBrowser } from '../support/browser.ts'

/** The app and a browser, there while the tests of a group run. */
export interface App {
  readonly server: AppServer
  readonly browser: Browser
}

export function startApp(options: AppServerOptions = {}): App {
  let server: AppServer | undefined
  let browser: Browser | undefined
  beforeAll(async () => {
    server = await startAppServer(options)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  return {
    get server() {
      return running(server)
    },
    get browser() {
      return running(browser)
    },
  }
}

function running<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('It is there only while tests run.')
  return thing
}
