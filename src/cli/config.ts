import type { LanguageModel } from 'ai'
import type { HoldfastOptions } from '../engine/options/options.ts'
import type { HandlerOptions } from '../server/handler-options.ts'

/** The default export of a config file (`holdfast serve --config FILE`). Everything is optional. */
export interface HoldfastConfig
  extends
    Omit<HoldfastOptions, 'store' | 'model' | 'clock' | 'newId' | 'holder'>,
    Pick<HandlerOptions, 'authenticate' | 'allowedOrigins' | 'limits' | 'sharing' | 'trustProxy'> {
  /** Any AI SDK model. HOLDFAST_MODEL takes precedence; with an `agent` neither is used. @default the demo model */
  readonly model?: LanguageModel
  /**
   * Handles requests outside `/api`, such as the pages of an app. Null: there is no such page.
   * @default none: only the API is served
   */
  readonly pages?: (request: Request) => Response | null | Promise<Response | null>
}
