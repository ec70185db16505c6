import Foundation

/// The program that runs now.
package enum Executable {
    package static let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
}
