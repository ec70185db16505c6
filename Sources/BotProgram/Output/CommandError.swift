import Foundation
import ProcessSupport

/// An error of a command, as a sentence for the user.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension CommandError: SystemCallError {
    package init(errno number: Int32, _ doing: String, _ path: String) {
        self.init("\(path): \(String(cString: strerror(number)))")
    }
}
