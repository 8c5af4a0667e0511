import DefaultTheme from 'vitepress/theme-without-fonts'
import './holdfast.css'

export default DefaultTheme
