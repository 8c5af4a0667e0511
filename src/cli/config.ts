import type { LanguageModel } from 'ai'
import type { HoldfastOptions } from '../engine/options.ts'
import type { HandlerOptions } from '../server/handler-options.ts'

/** What a config file (`holdfast serve --config FILE`) exports as its default. Everything is optional. */
export interface HoldfastConfig
  extends
    Omit<HoldfastOptions, 'store' | 'model' | 'hooks' | 'clock' | 'newId' | 'holder'>,
    Pick<HandlerOptions, 'authenticate' | 'allowedOrigins' | 'limits' | 'sharing' | 'trustProxy'> {
  /** Any AI SDK model. HOLDFAST_MODEL comes before it; with an `agent` neither counts. @default the demo model */
  readonly model?: LanguageModel
  /** Answers what is not under `/api`, such as the pages of an app. Null: there is no such page. @default none: only the API is there */
  readonly pages?: (request: Request) => Response | null | Promise<Response | null>
}
