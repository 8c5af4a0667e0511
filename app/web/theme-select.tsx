import { Icon } from 'holdfast/widgets'
import { type ReactNode, useState } from 'react'
import { applyTheme, readTheme, type Theme, themes } from './theme.ts'

const names: Readonly<Record<Theme, string>> = {
  system: 'Like the device',
  light: 'Light',
  dark: 'Dark',
}

export function ThemeSelect(): ReactNode {
  const [theme, setTheme] = useState(readTheme)
  const choose = (value: string) => {
    const chosen = themes.find((each) => each === value) ?? 'system'
    setTheme(chosen)
    applyTheme(chosen)
  }
  return (
    <label className="app-theme">
      <Icon name="theme" />
      Theme
      <select value={theme} onChange={(event) => choose(event.target.value)}>
        {themes.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </label>
  )
}
