/// Sanitises untrusted text for a terminal: truncates it and removes control characters.
enum PlainText {
    static func of(_ text: String, limit: Int = 120) -> String {
        let plain = text.unicodeScalars.prefix(limit * 4).filter {
            ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate].contains(
                $0.properties.generalCategory)
        }
        return String(String(String.UnicodeScalarView(plain)).prefix(limit))
    }
}
