/// Writes a result as one page with charts, without scripts and network resources.
///
/// The page is also well-formed XML, so that tests detect unescaped text.
package enum HTMLPage {
    package static func html(_ result: LoadResult) -> String {
        let title = Markup.escaped(SafeText.line(result.run.name))
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <meta name="color-scheme" content="light dark"/>
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
            <title>\(title) – load report</title>
            <style>\(HTMLStyle.css)</style>
            </head>
            <body>
            <main>
            \(HTMLSections.all(result).joined(separator: "\n"))
            </main>
            </body>
            </html>

            """
    }
}
