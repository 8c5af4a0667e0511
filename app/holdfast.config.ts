import { createDemoTools } from './demo-tools.ts'
import { createPages } from './pages.ts'
import { buildWeb, webFolder } from './build-web.ts'

await buildWeb()

const charges = process.env['HOLDFAST_DEMO_CHARGES']

/** What `holdfast serve` is told for this chat. The model is HOLDFAST_MODEL, and the demo without it. */
export default {
  ...createDemoTools(charges === undefined ? {} : { charges }),
  instructions:
    'You are a friendly assistant in a demo. Your tools give made-up data; say so when it matters.',
  pages: createPages(webFolder),
}
