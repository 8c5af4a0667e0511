import { createDemoModels, createDemoTools } from 'holdfast/demo'
import { createPages } from './pages.ts'
import { buildWeb, webFolder } from './build-web.ts'
import { createWeatherTool, readWeatherService } from './weather-tool.ts'

await buildWeb()

const charges = process.env['HOLDFAST_DEMO_CHARGES']
const demo = createDemoTools(charges === undefined ? {} : { charges })
const delay = process.env['HOLDFAST_DEMO_DELAY_MS']
const isDemo = (process.env['HOLDFAST_MODEL'] || 'demo') === 'demo'
const service = readWeatherService(process.env)

/** The options of `holdfast serve` for this chat. The model is HOLDFAST_MODEL, or the demo model if that is not set. */
export default {
  ...demo,
  ...(service === undefined
    ? {}
    : { tools: { ...demo.tools, get_weather: createWeatherTool(service) } }),
  ...(isDemo ? { models: createDemoModels(delay ? { delayMs: Number(delay) } : {}) } : {}),
  instructions:
    'You are a friendly assistant in a demo. A result says in “source” whether its data is made up; say so when it matters.',
  pages: createPages(webFolder),
}
