/// Texts of strangers, for a terminal: cut, and without what could steer it.
enum PlainText {
    static func of(_ text: String, most: Int = 120) -> String {
        let plain = text.unicodeScalars.prefix(most * 4).filter {
            ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate].contains(
                $0.properties.generalCategory)
        }
        return String(String(String.UnicodeScalarView(plain)).prefix(most))
    }
}
