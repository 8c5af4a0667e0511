import type { Page } from 'playwright-core'

/** Opens the menu of a thread with the keyboard, and chooses an action in it. */
export async function chooseAction(page: Page, title: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${title}` }).focus()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('menu')
  await menu.waitFor()
  const names = await menu.getByRole('menuitem').allTextContents()
  const at = names.indexOf(action)
  if (at < 0) throw new Error(`There is no ${action}: ${names.join(', ')}`)
  for (let step = 0; step < at; step++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}
